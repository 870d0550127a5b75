"""What documents, their times and count matrices become before a model reads them."""

"""DynamoDB's expressions, and the legacy parameters that came before them."""

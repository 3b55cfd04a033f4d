"""The customer portal: pricing, campaigns, checkout, and the admin lists."""

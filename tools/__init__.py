"""What the makers need beside the product: generators of pages, alerts and dashboards."""

"""The Grafana dashboards of deploy/grafana, as code: `make dashboards` writes them."""

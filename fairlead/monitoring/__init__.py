"""What watches a Fairlead from outside: Prometheus, its alerts, dashboards."""

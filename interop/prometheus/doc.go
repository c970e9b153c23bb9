// Package prometheus has tests only: Prometheus's own scraper reads leveret's metrics, and its query engine answers the
// queries of RabbitMQ's Grafana dashboards.
package prometheus

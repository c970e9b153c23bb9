package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"slices"
)

// config reads the files for TLS.
func (t *tlsSettings) config(from origins) (*tls.Config, error) {
	cert, err := tls.LoadX509KeyPair(t.cert, t.key)
	if err != nil {
		return nil, fmt.Errorf("%s and %s: %w", from.of("cert"), from.of("key"), err)
	}
	config := &tls.Config{Certificates: []tls.Certificate{cert}}
	if len(t.versions) > 0 {
		config.MinVersion, config.MaxVersion = slices.Min(t.versions), slices.Max(t.versions)
	}
	if t.clientCA == "" {
		return config, nil
	}
	pem, err := os.ReadFile(t.clientCA)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", from.of("client-ca"), err)
	}
	config.ClientCAs = x509.NewCertPool()
	if !config.ClientCAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s: there is no certificate in %s", from.of("client-ca"), t.clientCA)
	}
	config.ClientAuth = tls.VerifyClientCertIfGiven
	if t.demand {
		config.ClientAuth = tls.RequireAndVerifyClientCert
	}
	return config, nil
}

// chain returns the certificates that a listener shows.
func chain(config *tls.Config) (all []*x509.Certificate) {
	for _, c := range config.Certificates {
		for _, der := range c.Certificate {
			if cert, err := x509.ParseCertificate(der); err == nil {
				all = append(all, cert)
			}
		}
	}
	return all
}

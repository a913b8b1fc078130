// The routes of routes.ts on ServeMux. With GODEBUG=httpmuxgo121=1 the patterns are those of before Go 1.22.
package main

import (
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
)

func reached(name string) http.HandlerFunc {
	return func(response http.ResponseWriter, _ *http.Request) { fmt.Fprint(response, "reached "+name) }
}

func since122(mux *http.ServeMux) {
	mux.HandleFunc("GET /items/{id}", reached("item"))
	mux.HandleFunc("GET /items/{id}/payments", reached("payments"))
	mux.HandleFunc("/admin/{id}", reached("admin"))
	mux.HandleFunc("GET /export", reached("export"))
	mux.HandleFunc("GET /users:purge", reached("purge"))
	mux.HandleFunc("GET /$metadata", reached("metadata"))
	mux.HandleFunc("GET /@me", reached("me"))
	mux.HandleFunc("GET /pages/$status", reached("status"))
	mux.HandleFunc("GET /pages/{name}", reached("page"))
	mux.HandleFunc("GET /files/{rest...}", reached("files"))
	mux.HandleFunc("/mono/{rest...}", reached("mono"))
	mux.HandleFunc("/mono/secure", reached("secure"))
	mux.HandleFunc("/mono/secure/{rest...}", reached("secure"))
}

// Before 1.22 a pattern is a path or a subtree, and a program splits the rest itself.
func before122(mux *http.ServeMux) {
	parts := func(request *http.Request) []string { return strings.Split(request.URL.Path, "/")[2:] }
	mux.HandleFunc("/items/", func(response http.ResponseWriter, request *http.Request) {
		switch rest := parts(request); {
		case len(rest) == 1:
			reached("item")(response, request)
		case len(rest) == 2 && rest[1] == "payments":
			reached("payments")(response, request)
		default:
			http.NotFound(response, request)
		}
	})
	one := func(name string) http.HandlerFunc {
		return func(response http.ResponseWriter, request *http.Request) {
			if len(parts(request)) == 1 {
				reached(name)(response, request)
			} else {
				http.NotFound(response, request)
			}
		}
	}
	mux.HandleFunc("/admin/", one("admin"))
	mux.HandleFunc("/export", reached("export"))
	mux.HandleFunc("/users:purge", reached("purge"))
	mux.HandleFunc("/$metadata", reached("metadata"))
	mux.HandleFunc("/@me", reached("me"))
	mux.HandleFunc("/pages/$status", reached("status"))
	mux.HandleFunc("/pages/", one("page"))
	mux.HandleFunc("/files/", reached("files"))
	mux.HandleFunc("/mono/", reached("mono"))
	mux.HandleFunc("/mono/secure", reached("secure"))
	mux.HandleFunc("/mono/secure/", reached("secure"))
}

func main() {
	mux := http.NewServeMux()
	if strings.Contains(os.Getenv("GODEBUG"), "httpmuxgo121=1") {
		before122(mux)
	} else {
		since122(mux)
	}
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], mux))
}

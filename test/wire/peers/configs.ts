// Minimal configurations that forward /wire/ over plain HTTP and TLS, with the fields that identify a client.

export interface PeerPlace {
  /** The run's temporary folder, with `key.pem`, `cert.pem` and `both.pem`. */
  readonly folder: string;
  readonly plainPort: number;
  readonly tlsPort: number;
  readonly upstreamPort: number;
}

export const nginx = ({ folder, plainPort, tlsPort, upstreamPort }: PeerPlace): string => `
daemon off;
user root;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log;
events {}
http {
  access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((each) => `${each}_temp_path ${folder}/${each};`).join('\n  ')}
  map $http_upgrade $connection_upgrade { default ""; ~*^websocket$ upgrade; }
  map $http_upgrade $only_websocket { default ""; ~*^websocket$ websocket; }
  upstream suite { server 127.0.0.1:${upstreamPort}; keepalive 16; }
  server { listen 127.0.0.1:${plainPort} default_server; listen 127.0.0.1:${tlsPort} ssl http2 default_server; ${tls(folder)} server_name _; return 421; }
  server {
    listen 127.0.0.1:${plainPort};
    listen 127.0.0.1:${tlsPort} ssl http2;
    ${tls(folder)}
    server_name api.example.com;
    location /wire/ {
      proxy_pass http://suite;
      proxy_http_version 1.1;
      proxy_read_timeout 2s;
      proxy_next_upstream off;
      proxy_set_header Host $host;
      proxy_set_header X-Forwarded-For $remote_addr;
      proxy_set_header X-Forwarded-Proto $scheme;
      proxy_set_header Connection $connection_upgrade;
      proxy_set_header Upgrade $only_websocket;
    }
  }
}
`;

const tls = (folder: string): string =>
  `ssl_certificate ${folder}/cert.pem; ssl_certificate_key ${folder}/key.pem;`;

export const haproxy = ({ folder, plainPort, tlsPort, upstreamPort }: PeerPlace): string => `
global
  maxconn 1000
defaults
  mode http
  timeout connect 2s
  timeout client 10s
  timeout server 2s
frontend public
  bind 127.0.0.1:${plainPort}
  bind 127.0.0.1:${tlsPort} ssl crt ${folder}/both.pem alpn h2,http/1.1
  acl ours hdr(host) -i api.example.com
  acl ours_with_port hdr(host) -i -m beg api.example.com:
  http-request deny deny_status 421 if !ours !ours_with_port
  http-request deny deny_status 404 unless { path_beg /wire/ }
  option forwardfor
  http-request del-header X-Forwarded-For
  http-request set-header X-Forwarded-Proto %[ssl_fc,iif(https,http)]
  default_backend suite
backend suite
  server recorder 127.0.0.1:${upstreamPort}
`;

// The routes of routes.ts as locations of nginx, or nginx in front of another service.

/**
 * A file for `nginx -c`. `target`: the proxy_pass for all paths. With a URI, nginx forwards the parsed path.
 * Variables such as `$uri` contain decoded bytes.
 */
export function nginxConf(folder: string, port: number, target?: string): string {
  const location = (match: string, name: string) => `location ${match} { return 200 "reached ${name}"; }`;
  const own = [
    location('~ ^/items/[^/]+$', 'item'),
    location('~ ^/items/[^/]+/payments$', 'payments'),
    location('~ ^/admin/[^/]+$', 'admin'),
    location('= /export', 'export'),
    location('= /users:purge', 'purge'),
    location('= /$metadata', 'metadata'),
    location('= /@me', 'me'),
    location('= /pages/$status', 'status'),
    location('~ ^/pages/[^/]+$', 'page'),
    location('/files/', 'files'),
    location('= /mono/secure', 'secure'),
    location('/mono/secure/', 'secure'),
    location('/mono/', 'mono'),
  ];
  const passes = `location / { proxy_pass ${target}; }`;
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return `daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
error_log stderr crit;
events { worker_connections 256; }
http {
  access_log off;
  default_type text/plain;
  ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join('\n  ')}
  server {
    listen 127.0.0.1:${port};
    ${(target === undefined ? own : [passes]).join('\n    ')}
  }
}
`;
}

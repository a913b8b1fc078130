// Serves the files of the dashboard: read once, sent from memory, each with an ETag.
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { AdminAnswer } from '../answers.ts';
import type { AdminPage } from '../route.ts';

/** `page`: scripts. `shell`: document, style sheet, icon. */
const FOLDERS = ['page', 'shell'].map((name) => join(import.meta.dirname, name));
const HOME = '/dashboard/';
const SHELL = 'dashboard.html';
/** Paths that serve the same document. Its script draws the page of the path. */
const PLACES = ['version', 'consumer', 'limits', 'upstreams', 'webhooks', 'configuration'];

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
};

/** No other origins and no inline scripts: texts of policies and clients must not run as code. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const HEADERS = {
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  // Browsers revalidate each time, because an upgraded gateway has new files.
  'cache-control': 'no-cache',
};

export interface Dashboard {
  readonly pages: readonly AdminPage[];
  readonly notFound: AdminAnswer;
}

/** @throws the system error if the files cannot be read */
export async function readDashboard(): Promise<Dashboard> {
  const files = new Map((await Promise.all(FOLDERS.map(answersIn))).flat());
  const shell = files.get(SHELL);
  if (shell === undefined) throw new Error(`the dashboard has no ${SHELL}`);
  const page = { method: 'GET', open: true } as const;
  const alias = { ...page, alias: true } as const;
  const pages: readonly AdminPage[] = [
    { ...page, path: HOME, show: () => shell },
    ...['/', '/dashboard'].map((path) => ({ ...alias, path, show: () => moved(HOME) })),
    ...PLACES.map((place) => ({ ...alias, path: `${HOME}${place}`, show: () => shell })),
    ...[...files]
      .filter(([name]) => name !== SHELL)
      .map(([name, answer]) => ({ ...alias, path: `${HOME}page/${name}`, show: () => answer })),
  ];
  return { pages, notFound: { ...shell, status: 404 } };
}

async function answersIn(folder: string): Promise<(readonly [name: string, answer: AdminAnswer])[]> {
  const names = (await readdir(folder)).filter((name) => extname(name) in TYPES);
  return Promise.all(names.map(async (name) => [name, await answerOf(folder, name)] as const));
}

async function answerOf(folder: string, name: string): Promise<AdminAnswer> {
  const body = await readFile(join(folder, name), 'utf8');
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  return { status: 200, contentType: TYPES[extname(name)] ?? '', headers: { ...HEADERS, etag }, body };
}

function moved(location: string): AdminAnswer {
  return {
    status: 302,
    contentType: 'text/plain; charset=utf-8',
    headers: { ...HEADERS, location },
    body: '',
  };
}

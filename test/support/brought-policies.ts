// Copies the policies of a journey into a folder, with the parts that the journey creates at run time.
import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { JOURNEYS, type PolicyFolder } from './policy-folders.ts';
import type { WellUpstreams } from './well-upstreams.ts';

/** Addresses without a listener, and a name that does not resolve. */
const UNWELL = /http:\/\/(?:127\.0\.0\.1:9\b|nowhere\.invalid)/g;

export async function bringPolicies(
  { folder, edition = '' }: PolicyFolder,
  to: string,
  upstreams: WellUpstreams,
): Promise<void> {
  await cp(join(JOURNEYS, folder), to, { recursive: true });
  const { url } = await upstreams.named('UNWELL');
  const names = await readdir(to);
  const edits = names.map(async (name) => {
    if (!/\.yaml(?:\.template)?$/.test(name)) return;
    const text = await readFile(join(to, name), 'utf8');
    const edited = text
      .replaceAll(UNWELL, url)
      .replaceAll('EDITION', edition)
      .replaceAll('/NOTE', join(to, 'note.txt'));
    if (edited === text) return;
    if (name.endsWith('.template')) await rm(join(to, name));
    await writeFile(join(to, name.replace(/\.template$/, '')), edited);
  });
  const { server, client } = upstreams.secure;
  const made = {
    'note.txt': 'one',
    'ca.pem': server.cert,
    'client.pem': client.cert,
    'client.key': client.key,
  };
  const files = Object.entries(made).map(([name, text]) => writeFile(join(to, name), text, { mode: 0o600 }));
  await Promise.all([...edits, ...files]);
}

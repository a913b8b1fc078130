// `npm run build [folder]`: writes the npm package of the gateway, as bundled JavaScript without dependencies.
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type OutputChunk, type Plugin, rolldown } from 'rolldown';

/** The only place that sets the name. */
const PACKAGE = '@sundial/gateway';
const ROOT = join(import.meta.dirname, '..');
/** All chunks are in this folder, beside the files that they load by a relative URL. */
const PROGRAM = 'gateway';
const LOADED = [
  'gateway/stores/redis/scripts',
  'gateway/admin/dashboard/page',
  'gateway/admin/dashboard/shell',
];
const SCHEMAS = ['policy.schema.json', 'gateway.schema.json'];
const project = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
const { peerDependencies, peerDependenciesMeta } = project;
const LICENCES = 'THIRD-PARTY-LICENSES.txt';
/** MIT according to package.json and readme, but published without the text. */
const WITHOUT_TEXT = ['abstract-logging'];

/** Makes a chunk for each file that is started by its URL, as a process or a thread. */
const startedByUrl: Plugin = {
  name: 'started-by-url',
  transform: {
    filter: { code: 'import.meta' },
    handler(code, id) {
      const replaced = code.replace(
        /(?<=new URL\('\.\/)([\w-]+)\.ts(?=', import\.meta\.url\))/g,
        (_, name) => {
          this.emitFile({ type: 'chunk', id: join(id, `../${name}.ts`), fileName: `${PROGRAM}/${name}.js` });
          return `${name}.js`;
        },
      );
      if (/\.ts['"`]\s*,\s*import\.meta/.test(replaced))
        this.error("a file is started by a URL in another form than new URL('./name.ts', import.meta.url)");
      return replaced;
    },
  },
};

async function bundle(folder: string): Promise<readonly OutputChunk[]> {
  await using bundled = await rolldown({
    cwd: ROOT,
    input: { sundial: 'gateway/sundial.js' },
    platform: 'node',
    // Operators who want traces install these.
    external: Object.keys(peerDependencies),
    plugins: [startedByUrl],
    onLog: (level, log, say) => say(level === 'warn' ? 'error' : level, log),
  });
  const { output } = await bundled.write({
    dir: folder,
    entryFileNames: `${PROGRAM}/[name].js`,
    chunkFileNames: `${PROGRAM}/[name].js`,
    // Keeps names, so that stack traces name functions.
    minify: { mangle: false, compress: false },
    comments: false,
  });
  return output.filter((part) => part.type === 'chunk');
}

/** Folders of the packages that the bundle contains. */
function packagesIn(chunks: readonly OutputChunk[]): readonly string[] {
  const modules = chunks.flatMap(({ moduleIds }) => moduleIds);
  const folders = modules.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? []);
  return [...new Set(folders)].sort();
}

/** @throws Error for a package without a licence text */
async function licenceOf(folder: string): Promise<string> {
  const { name, version, license, author } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  const title = `${name} ${version} (${license})`;
  if (WITHOUT_TEXT.includes(name)) return `${title}\n\nBy ${author}. The package has no licence text.`;
  const files = (await readdir(folder)).filter((file) => /^(licen[cs]e|copying|notice)\b/i.test(file));
  if (files.length === 0) throw new Error(`${name} has no licence text`);
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
  return [title, ...texts.map((text) => text.trim())].join('\n\n');
}

async function buildPackage(folder: string): Promise<string> {
  await rm(folder, { recursive: true, force: true });
  const chunks = await bundle(folder);
  for (const source of LOADED)
    await cp(join(ROOT, source), join(folder, PROGRAM, source.split('/').at(-1) ?? ''), {
      recursive: true,
      filter: (path) => !path.endsWith('tsconfig.json'),
    });
  await mkdir(join(folder, 'schema'));
  for (const file of SCHEMAS) await cp(join(ROOT, 'config/schema', file), join(folder, 'schema', file));
  const licences = await Promise.all(packagesIn(chunks).map(licenceOf));
  await writeFile(join(folder, LICENCES), `${licences.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`);
  const { version, description, license, type, engines, bin } = project;
  const exports = Object.fromEntries(SCHEMAS.map((file) => [`./${file}`, `./schema/${file}`]));
  const manifest = {
    ...{ name: PACKAGE, version, description, license, type, engines, bin, exports },
    ...{ peerDependencies, peerDependenciesMeta },
  };
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  return `${PACKAGE} ${version}: ${folder}\n`;
}

process.stdout.write(await buildPackage(process.argv[2] ?? join(ROOT, 'dist/package')));

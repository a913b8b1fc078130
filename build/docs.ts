// `npm run docs`: writes the generated pages of docs/reference/.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { REFERENCE, referencePages } from './reference/pages.ts';

const folder = join(import.meta.dirname, '..', REFERENCE);
await mkdir(folder, { recursive: true });
for (const { file, text } of referencePages()) await writeFile(join(folder, file), text);

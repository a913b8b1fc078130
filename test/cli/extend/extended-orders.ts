// Runs `sundial extend` in process on a policy in block style.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ExtendOptions, runExtend } from '../../../gateway/cli/extend/extend.ts';
import { ORDERS, type Workspace } from '../../plan/workspace.ts';

const TODAY = Date.UTC(2026, 8, 1);

export const BLOCK = ORDERS.replace(
  /^ {2}v1: \{ released.*\n/m,
  `  v1:
    released:   2024-06-01
    deprecated: 2026-01-15   # told everybody
    sunset:     2027-01-15   # as first published
    successor:  v2
    guide:      https://docs.example.com/v2
`,
);

export const withExtended = (written: string) => BLOCK.replace('    successor:', `${written}    successor:`);
export const date = (text: string) => ({ at: Date.parse(text), text });

export const extend = (files: Workspace, options: Partial<ExtendOptions> = {}) =>
  runExtend({
    api: 'orders',
    version: 'v1',
    to: date('2027-04-15'),
    why: 'acme still migrates',
    announced: undefined,
    dryRun: false,
    configFile: files.configFile,
    environment: {},
    now: TODAY,
    colour: false,
    cwd: files.folder,
    ...options,
  });

export const read = (files: Workspace) => readFile(join(files.folder, 'policies/orders.yaml'), 'utf8');
export const ENTRY = '{ to: 2027-04-15, announced: 2026-09-01, why: acme still migrates }';
export const NEXT = '{ to: 2027-08-15, announced: 2026-09-01, why: acme still migrates }';

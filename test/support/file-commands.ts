// Runs `explain`, `timeline` and `diff` in process on a test's files, with default options and a fixed day.
import { type DiffOptions, runDiff } from '../../gateway/cli/diff/diff.ts';
import { type ExplainOptions, runExplain } from '../../gateway/cli/explain/explain.ts';
import { runTimeline, type TimelineOptions } from '../../gateway/cli/timeline/timeline.ts';
import { NOW } from '../plan/workspace.ts';

interface Files {
  readonly folder: string;
  readonly configFile: string;
}

const common = ({ configFile, folder }: Files) => ({
  configFile,
  environment: {},
  now: NOW,
  colour: false,
  cwd: folder,
});

export const explain = (files: Files, request: string, options: Partial<ExplainOptions> = {}) =>
  runExplain({
    ...common(files),
    request,
    headers: [],
    as: undefined,
    scopes: undefined,
    paused: undefined,
    format: 'text',
    today: NOW,
    ...options,
  });

export const timeline = (files: Files, options: Partial<TimelineOptions> = {}) =>
  runTimeline({ ...common(files), api: undefined, format: 'text', today: NOW, columns: 100, ...options });

export const diff = (files: Files, options: Partial<DiffOptions> = {}) =>
  runDiff({
    ...common(files),
    older: 'old.yaml',
    newer: 'new.yaml',
    format: 'text',
    exitCode: false,
    ...options,
  });

// An hour of good traffic through a gateway, for the alert rules as they are, their `for` included. Real are the requests, the
// gateway, its pages, and the engine of promtool that evaluates the rules. The clock between two scrapes is not: each page counts
// for fifteen seconds, whatever it took.
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const SCRAPES = 240;
const SCRAPE_S = 15;
/** Instants: they move with the clock that is not real. */
const TIMESTAMP = /_timestamp_seconds$/;
const SAMPLE = /^(\w+)(?:\{(.*)\})? (\S+)$/;

export interface GoodHour {
  readonly folder: string;
  /** The rules as they are. */
  readonly rules: string;
  /** `host:port` of metrics, by job. */
  readonly scraped: Readonly<Record<string, string>>;
  /** The requests between two scrapes. */
  readonly traffic: (scrape: number) => Promise<void>;
}

/** @throws Error with what promtool says where an alert fires in the hour */
export async function expectQuietHour({ folder, rules, scraped, traffic }: GoodHour): Promise<number> {
  const asked = new Set(rules.match(/\bsundial_\w+/g));
  const began = Date.now() / 1_000;
  const values = new Map<string, string[]>();
  const put = (series: string, scrape: number, value: string) => {
    const list = values.get(series) ?? Array<string>(SCRAPES).fill('_');
    list[scrape] = value;
    values.set(series, list);
  };
  for (let scrape = 0; scrape < SCRAPES; scrape += 1) {
    await traffic(scrape);
    for (const [job, host] of Object.entries(scraped)) {
      const own = `job="${job}", cluster="east", instance="${host}"`;
      put(`up{${own}}`, scrape, '1');
      const page = await (await fetch(`http://${host}/metrics`)).text();
      for (const line of page.split('\n')) {
        const [, name = '', labels, value = ''] = SAMPLE.exec(line) ?? [];
        if (!asked.has(name)) continue;
        const series = `${name}{${own}${labels === undefined ? '' : `, ${labels}`}}`;
        put(series, scrape, TIMESTAMP.test(name) ? String(Number(value) - began) : value);
      }
    }
  }
  const file = join(folder, 'good-hour.yml');
  const test = {
    rule_files: ['good-hour-rules.yml'],
    evaluation_interval: '15s',
    tests: [
      {
        interval: `${SCRAPE_S}s`,
        input_series: [...values].map(([series, list]) => ({ series, values: list.join(' ') })),
        promql_expr_test: [
          {
            expr: `count by (alertname) (count_over_time(ALERTS{alertstate="firing"}[1h]))`,
            eval_time: '1h',
            exp_samples: [],
          },
          // The hour is there.
          {
            expr: 'count(count_over_time(up[1h]) >= 239)',
            eval_time: '1h',
            exp_samples: [{ labels: '{}', value: Object.keys(scraped).length }],
          },
        ],
      },
    ],
  };
  await writeFile(join(folder, 'good-hour-rules.yml'), rules);
  // JSON is YAML.
  await writeFile(file, JSON.stringify(test));
  await promisify(execFile)('promtool', ['test', 'rules', file]).catch(
    (error: { stdout: string; stderr: string }) => {
      throw new Error(`alerts in an hour of good traffic: ${error.stdout}${error.stderr}`.slice(0, 4_000));
    },
  );
  return values.size;
}

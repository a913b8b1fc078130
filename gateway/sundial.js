#!/usr/bin/env node
// The launcher: says in one line what to do when Node is too old or cannot start, otherwise hands over to main.ts.
// Plain JavaScript in syntax that Node 12 can read: an older Node stops at the first type of a .ts file without a hint.

const NEEDED = 26;
const ROOT = new URL('..', import.meta.url);
const IN_PROJECT =
  'in the project folder run `npm ci`, then `npm start` or `npx sundial …`, which bring Node 26 themselves';
const WITHOUT_BUNDLED_NODE =
  `sundial: Node ${NEEDED} did not come with the packages and this is ${process.versions.node}: run \`npm ci\` with ` +
  `development packages and install scripts on (npm 12: the project's allowScripts permits it), or install Node ${NEEDED}`;

if (process.argv[2] === '--probe') {
  probe().catch((error) =>
    stop(1, `sundial: cannot tell whether Node ${NEEDED} can start here: ${error.message}`),
  );
} else if (majorOf(process.versions.node) < NEEDED) {
  stop(
    2,
    `sundial, the API gateway, needs Node ${NEEDED} and this is ${process.versions.node}: install Node ${NEEDED}, or ${IN_PROJECT}`,
  );
} else {
  start().catch((error) => {
    if (error.code !== 'ERR_MODULE_NOT_FOUND' || !/Cannot find package/.test(error.message)) throw error;
    stop(2, `sundial, the API gateway, lacks its packages: ${IN_PROJECT}`);
  });
}

// What was compiled once is not compiled again, which halves the time to start. Beside the packages, where only who could
// change them can write; a folder that cannot be written does no harm. Portable: a project that is copied or moved goes on.
function start() {
  return Promise.all([import('node:module'), import('node:url')]).then((modules) => {
    const directory = modules[1].fileURLToPath(new URL('node_modules/.cache/sundial', ROOT));
    modules[0].enableCompileCache({ directory, portable: true });
    return import('./main.ts');
  });
}

function majorOf(version) {
  return Number(version.replace(/^v/, '').split('.')[0]);
}

function stop(code, line) {
  process.stderr.write(`${line}\n`);
  process.exit(code);
}

// Run by `npm ci` under npm's own Node, whatever its version: will the Node that came with the packages start?
function probe() {
  return Promise.all([import('node:child_process'), import('node:fs'), import('node:url')]).then(
    (modules) => {
      const path = modules[2].fileURLToPath(new URL('node_modules/node/bin/node', ROOT));
      if (modules[1].existsSync(path)) judge(modules[0].spawnSync(path, ['--version'], { encoding: 'utf8' }));
      else if (majorOf(process.versions.node) < NEEDED) stop(1, WITHOUT_BUNDLED_NODE);
    },
  );
}

function judge(answer) {
  const version = String(answer.stdout).trim();
  if (answer.status === 0 && majorOf(version) >= NEEDED) return;
  const said = String(answer.stderr).trim();
  if (/libatomic/.test(said)) {
    stop(
      1,
      `sundial: Node ${NEEDED} needs the system library libatomic, which is missing: apt-get install libatomic1 ` +
        '(Debian, Ubuntu), dnf install libatomic (Fedora), apk add libatomic (Alpine)',
    );
  }
  const reason = answer.error ? answer.error.code : version || said.split('\n')[0] || `exit ${answer.status}`;
  stop(
    1,
    `sundial: the Node ${NEEDED} that came with the packages does not start on this system (${reason}): ` +
      `install Node ${NEEDED} for it and run \`npm ci --omit=dev\``,
  );
}

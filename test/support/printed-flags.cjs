// Preloaded script that prints the V8 flags each process sets, because V8 cannot be asked for them.
const v8 = require('node:v8');
const { syncBuiltinESMExports } = require('node:module');

const { setFlagsFromString } = v8;
v8.setFlagsFromString = (flag) => {
  setFlagsFromString(flag);
  process.stderr.write(`${process.pid} ${flag}\n`);
};
syncBuiltinESMExports();

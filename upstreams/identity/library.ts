// Loads oidc-provider without its warning on stderr about Node releases that are not LTS.

const warn = console.warn;
console.warn = (...words: readonly unknown[]) => {
  if (!String(words[0]).includes('Unsupported runtime')) warn(...words);
};
const library = await import('oidc-provider').finally(() => {
  console.warn = warn;
});

export const { Provider, errors } = library;

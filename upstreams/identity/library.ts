// oidc-provider, loaded without its word on stderr about every Node that is not a long-term release.
// Whoever needs the library at run time takes it from here.

const warn = console.warn;
console.warn = (...words: readonly unknown[]) => {
  if (!String(words[0]).includes('Unsupported runtime')) warn(...words);
};
const library = await import('oidc-provider').finally(() => {
  console.warn = warn;
});

export const { Provider, errors } = library;

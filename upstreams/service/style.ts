// The style sheet of the pages of sample services, embedded in each page to save a request.

export const STYLE = `
:root { color-scheme: light dark; }
* { box-sizing: border-box; }
body { margin: 0; font: 1rem/1.5 system-ui, sans-serif;
  background: light-dark(#f5f5f2, #16181c); color: light-dark(#1d1f23, #e8e6e1); }
main { max-width: 40rem; margin: 3rem auto; padding: 1.5rem 2rem 2rem;
  background: light-dark(#fff, #1f2228); border: 1px solid light-dark(#d9d7d0, #3a3e46); border-radius: .5rem; }
h1 { font-size: 1.5rem; line-height: 1.2; margin: 0 0 1rem; }
h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
a { color: light-dark(#0b57a4, #8ab8f2); }
label { display: block; margin: 1rem 0 .25rem; font-weight: 600; }
input { width: 100%; padding: .5rem; font: inherit; color: inherit; background: light-dark(#fff, #16181c);
  border: 1px solid light-dark(#77756e, #8a8f99); border-radius: .25rem; }
button { margin: 1rem .5rem 0 0; padding: .5rem 1rem; font: inherit; cursor: pointer; border-radius: .25rem;
  color: inherit; background: transparent; border: 1px solid light-dark(#77756e, #8a8f99); }
button.main { color: light-dark(#fff, #10141a); background: light-dark(#0b57a4, #8ab8f2); border-color: transparent; }
:focus-visible { outline: 3px solid light-dark(#c05800, #ffb45c); outline-offset: 2px; }
form.row { display: inline; }
[role=alert] { padding: .75rem 1rem; border-left: 4px solid light-dark(#b3261e, #ff8a80);
  background: light-dark(#fdecea, #35201f); }
[role=status] { padding: .75rem 1rem; border-left: 4px solid light-dark(#2e7d32, #81c995);
  background: light-dark(#edf7ed, #1d2b20); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1rem; }
dt { font-weight: 600; } dd { margin: 0; overflow-wrap: anywhere; }
pre { padding: .75rem; overflow: auto; font-size: .85rem; background: light-dark(#f5f5f2, #16181c); border-radius: .25rem; }
@media (max-width: 44rem) { main { margin: 0; border: 0; border-radius: 0; min-height: 100vh; padding: 1rem; } dl { display: block; } }
`;

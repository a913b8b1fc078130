// Loaded before the launcher: makes this Node say that it is an older one.
Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.19.5' } });

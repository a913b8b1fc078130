// Preloaded script that makes Node report an older version.
Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.19.5' } });

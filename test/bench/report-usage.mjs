/*
 * Loaded into every measured process with `--import`: tells over IPC how much CPU time and memory it has used, when asked.
 * So the same figure is had on every system, without a tool and without a change to what is measured. CPU time is that of
 * all threads, in the kernel too; the garbage collector's is in it.
 */
process.on('message', (message) => {
  if (message !== 'usage') return;
  const { user, system } = process.cpuUsage();
  process.send({ cpuUs: user + system, rss: process.memoryUsage.rss() });
});

// Whoever measures is gone.
process.on('disconnect', () => process.exit());

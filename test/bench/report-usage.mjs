/*
 * Loaded into every measured process with `--import`: tells over IPC what it has used, when asked. So the figure is had on
 * every system, without a change to what is measured. CPU time is that of all threads, in the kernel too.
 */
process.on('message', (message) => {
  if (message !== 'usage') return;
  const { user, system } = process.cpuUsage();
  process.send({ cpuUs: user + system, rss: process.memoryUsage.rss(), maxRss: process.resourceUsage().maxRSS * 1024 });
});

// The benchmark is gone.
process.on('disconnect', () => process.exit());

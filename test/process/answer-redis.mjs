/** A connection to a stand-in for Redis. It replies 1 to each script, and OK to each other command. */
export function answerRedis(client) {
  client
    .on('error', () => {})
    .on('data', (chunk) => {
      for (const [, name] of chunk.toString('latin1').matchAll(/^\*\d+\r\n\$\d+\r\n(\w+)/gm))
        client.write(name === 'eval' ? ':1\r\n' : '+OK\r\n');
    });
}

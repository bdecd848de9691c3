import Database from 'libsql';

/** The statements that a piece of work sends to a store: the program's own, with their parameters. */
export async function statementsOf(store, work) {
  const made = [];
  await store.read((queries) =>
    work(
      queries.withPlugin({
        transformQuery({ node, queryId }) {
          made.push(queries.getExecutor().compileQuery(node, queryId));
          return node;
        },
        transformResult: async ({ result }) => result,
      }),
    ),
  );
  return made.map(({ sql, parameters }) => ({ sql, parameters: [...parameters] }));
}

/** How SQLite finds the rows of each statement in a file that nobody has open. A SCAN of a table would be a lost index. */
export function plansOf(path, statements) {
  const database = new Database(path);
  const plans = statements.map(({ sql, parameters }) => {
    const steps = database.prepare(`explain query plan ${sql}`).all(...parameters);
    return steps.map(({ detail }) => detail).join('; ');
  });
  database.close();
  return plans;
}

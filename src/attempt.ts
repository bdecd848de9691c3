/** What fails before anything is sent rejects like what fails later. An async function would wait three times for the same. */
export function attempt<Result>(begin: () => Promise<Result>): Promise<Result> {
  try {
    return begin();
  } catch (error) {
    return Promise.reject(error);
  }
}

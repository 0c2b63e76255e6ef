/** The oldest major version of node that runs this source: it strips types and has the SQLite that the service needs. */
export const MIN_NODE_MAJOR = 24

/** `undefined` when `version` (`process.version`) is new enough, else the sentence to print. */
export function nodeVersionProblem(version: string): string | undefined {
  const major = Number(/^v?(\d+)\./.exec(version)?.[1])
  if (major >= MIN_NODE_MAJOR) return undefined
  return `Bezel needs node ${MIN_NODE_MAJOR} or newer and this is ${version}: start it with npm (npm start, npm test), which brings its own node on Linux, or install node ${MIN_NODE_MAJOR}.`
}

import { before, suite } from 'node:test'

/**
 * Runs test files one after the other in this process. Each becomes its own suite, so that hooks at the top of a file
 * affect this file alone. All are loaded before the first test runs, because loading blocks tests that run at the same
 * time.
 */
export async function runTogether(files: readonly (readonly [name: string, url: string])[]): Promise<void> {
  const allLoaded = Promise.withResolvers<void>()
  before(() => allLoaded.promise)
  for (const [name, url] of files) {
    // A suite is built in the background, and two files must not be loaded into the same suite.
    await new Promise<void>((loaded) => {
      void suite(name, () => import(url).finally(loaded))
    })
  }
  allLoaded.resolve()
}

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { startStandInFeed, type StandInFeed } from '@bezel/testkit/standInFeed.ts'
import { createBackendPages, type BackendPages } from './backendPages.ts'
import { FeedUnavailableError } from './pages.ts'

const PATH = '/trading-variables/isForexOpen,isStocksOpen,isIndicesOpen,isCommoditiesOpen'

describe('createBackendPages', () => {
  let backend: StandInFeed
  let pages: BackendPages
  before(async () => {
    backend = await startStandInFeed()
    pages = createBackendPages(backend.url)
  })
  after(() => backend.close())

  it('reads the flag of each group, and none that is no flag', async () => {
    backend.pages = { [PATH]: () => ({ isForexOpen: true, isStocksOpen: false, isIndicesOpen: 'no', pairs: [] }) }
    assert.deepEqual(
      await pages.openGroups(),
      new Map([
        ['forex', true],
        ['stocks', false],
      ]),
    )
  })

  it('knows a backend that has no flags, by its answer or by a 404', async () => {
    backend.pages = { [PATH]: () => ({ pairs: [] }) }
    assert.equal(await pages.openGroups(), undefined)
    backend.pages = {}
    assert.equal(await pages.openGroups(), undefined)
  })

  it('says that the backend is away', async () => {
    backend.pages = {
      [PATH]: () => {
        throw new Error('broken')
      },
    }
    await assert.rejects(pages.openGroups(), FeedUnavailableError)
  })
})

import type { RunningPostgres } from '@bezel/testkit/startPostgres.ts'
import type { CampaignFault } from '../campaign/runCampaign.ts'

/** Restarts a database so often. Half of the restarts are crashes. */
export function restartsOf(server: RunningPostgres, times: number): CampaignFault {
  let restarts = 0
  return {
    name: 'restarts of the database',
    times,
    async happen() {
      await server.stop((restarts += 1) % 2 === 0 ? 'fast' : 'immediate')
      await server.start()
    },
  }
}

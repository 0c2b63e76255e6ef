import { startAccount } from '../data/account.ts'
import { chooseFirstChain } from '../data/chain.ts'
import { publicClient } from '../data/client.ts'
import { startLive } from '../data/live.ts'
import { startMarkets } from '../data/markets.ts'
import { measureClock } from '../data/now.ts'
import { loadSettings, settings } from '../data/settings.ts'
import { startActions } from './act.ts'
import { startSession } from './session.ts'
import { startSessionAgent } from './sessionAgent.ts'
import { startWallets } from './wallets.ts'

/**
 * Starts everything behind the page: settings, clock, live data, and the session of before a reload. Call it once; when
 * it rejects, because the settings can't be had, call it again.
 */
export async function startConsole(): Promise<void> {
  if (settings.peek() !== null) return
  await loadSettings()
  chooseFirstChain(location.search)
  startLive()
  startMarkets()
  startAccount()
  startSession()
  startSessionAgent()
  startActions()
  startWallets()
  // Signatures need the time of the service, but the page does not wait for it.
  void measureClock(publicClient.peek()).catch(() => undefined)
}

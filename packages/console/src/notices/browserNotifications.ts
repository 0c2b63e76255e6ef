import type { Notification as Notice } from '@bezel/sdk'
import { effect, signal, type ReadonlySignal } from '@preact/signals'
import { navigate } from '../router/router.ts'
import { notifications } from '../data/account.ts'
import { identity } from '../data/client.ts'
import { browserStore, readStored, writeStored } from '../data/storage.ts'
import { pushToast } from '../ui/toasts.ts'
import { pageOfNotice, toAnnounce } from './grouping.ts'

/** Permission to show notifications of this page; `absent` in a browser that has no notifications. */
export type NotifyState = NotificationPermission | 'absent'

const state = signal<NotifyState>(readPermission())

/** The user's present choice about notifications of the browser. */
export const notifyState: ReadonlySignal<NotifyState> = state

/** Asks the user to allow notifications of the browser. Browsers let a page ask only after a click. */
export async function askToNotify(): Promise<void> {
  if (readPermission() === 'absent') return
  state.value = await Notification.requestPermission()
}

function readPermission(): NotifyState {
  return typeof Notification === 'undefined' ? 'absent' : Notification.permission
}

/**
 * Tells new notices: those of some weight as a toast in this tab, and all of them by the browser when it may. Tabs
 * share the number of the last one that was told, so that each one is told by one tab. Returns how to stop.
 */
export function announceNotices(): () => void {
  let lastToasted: number | null = null
  let toastedOf: string | null = null
  return effect(() => {
    const [notices, trader] = [notifications.value, identity.value?.trader ?? null]
    if (notices === null || trader === null) return
    if (toastedOf !== trader) lastToasted = null
    toastedOf = trader
    const fresh = toAnnounce(notices, lastToasted)
    lastToasted = fresh.lastTold
    for (const notice of fresh.told) toast(notice)
    void alone(() => tellBrowser(notices, trader))
  })
}

function toast(notice: Notice): void {
  const { id, type, severity, title, message } = notice
  // An expiry that is hours away can wait for a look at the bell; whoever makes an agent of a few hours knows it.
  if (severity === 'info' || type === 'agent_expiring') return
  const to = pageOfNotice(notice)
  const link = to === null ? undefined : { to, label: 'Show' }
  pushToast({ tone: severity === 'critical' ? 'bad' : 'warn', key: `notice-${id}`, title, body: message, link })
}

function tellBrowser(notices: readonly Notice[], trader: string): void {
  const key = `told.${trader}`
  const stored = readStored(browserStore, key)
  const { told, lastTold } = toAnnounce(notices, typeof stored === 'number' ? stored : null)
  if (lastTold !== stored) writeStored(browserStore, key, lastTold)
  if (readPermission() === 'granted') for (const notice of told) show(notice)
}

function show(notice: Notice): void {
  const { id, title, message } = notice
  try {
    // The tag keeps a second one of the same notice from being shown, whoever tells it.
    const shown = new Notification(title, { body: message, tag: `bezel-${id}` })
    shown.addEventListener('click', () => {
      window.focus()
      const page = pageOfNotice(notice)
      if (page !== null) navigate(page)
      shown.close()
    })
  } catch {
    // Browsers on phones have the class, yet allow it to workers only. The bell has the notice all the same.
  }
}

/** Runs something in one tab at a time. */
async function alone(work: () => void): Promise<void> {
  const { locks } = navigator as { readonly locks?: LockManager }
  if (locks === undefined) return work()
  await locks.request('bezel-notices', work)
}

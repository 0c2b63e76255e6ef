import type { NoticeKey, Notice } from '../store/noticeRecord.ts'
import type { ChainSlug, NotificationType } from '@bezel/protocol'
import { endNotice, listNoticeKeys, saveNotice, takeNoticeIds } from '../store/noticeStore.ts'
import type { Store } from '../store/sql.ts'

/** Notices that hold for as long as something is so. */
export interface StandingNotices {
  /** Tells what is new among these, and ends what is no longer among them. Writes nothing when nothing changed. */
  settle(now: readonly Notice[]): Promise<void>
}

/** Those of these types on one chain. What was told before a restart is told still. */
export function createStandingNotices(of: {
  readonly store: Store
  readonly chain: ChainSlug
  readonly types: readonly NotificationType[]
}): StandingNotices {
  const { store, chain, types } = of
  let told: Map<string, NoticeKey> | undefined
  return {
    async settle(now) {
      told ??= byName(await listNoticeKeys(store.read, chain, types))
      const standing = told
      const wanted = byName(now.map(({ key }) => key))
      const fresh = now.filter(({ key }) => !standing.has(nameOf(key)))
      const over = [...standing].filter(([name]) => !wanted.has(name)).map(([, key]) => key)
      if (fresh.length === 0 && over.length === 0) return
      await store.transaction(async (sql) => {
        for (const key of over) await endNotice(sql, key)
        let id = await takeNoticeIds(sql, fresh.length)
        for (const notice of fresh) await saveNotice(sql, id++, notice)
      })
      told = wanted
    },
  }
}

function byName(keys: readonly NoticeKey[]): Map<string, NoticeKey> {
  return new Map(keys.map((key) => [nameOf(key), key]))
}

function nameOf({ type, subject }: NoticeKey): string {
  return `${type} ${subject}`
}

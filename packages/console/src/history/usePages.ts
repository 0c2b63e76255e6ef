import type { BezelClient, Page, PageOptions } from '@bezel/sdk'
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { accountClient } from '../data/client.ts'
import { problemOf, type Problem } from '../ground/problem.ts'

/** The pages of a list that were read so far. */
export interface Pages<Item> {
  /** Entries of all pages; null until the first one is read. */
  readonly items: readonly Item[] | null
  /** True once the last page is read. */
  readonly isComplete: boolean
  readonly isReading: boolean
  readonly problem: Problem | null
  /** Reads the next page, or the one that failed again. */
  more(): void
}

interface Read<Item> {
  readonly items: readonly Item[] | null
  readonly cursor: string | null
  readonly isReading: boolean
  readonly problem: Problem | null
}

const PAGE_SIZE = 50

/** Reads a list page by page, beginning when the component is mounted and anew for another account. */
export function usePages<Item>(read: (client: BezelClient, options: PageOptions) => Promise<Page<Item>>): Pages<Item> {
  const state = useSignal<Read<Item>>({ items: null, cursor: null, isReading: false, problem: null })
  const client = accountClient.value
  const readPage = async (from: BezelClient): Promise<void> => {
    const { items, cursor } = state.peek()
    state.value = { ...state.peek(), isReading: true, problem: null }
    try {
      const page = await read(from, { limit: PAGE_SIZE, ...(cursor === null ? {} : { cursor }) })
      if (accountClient.peek() !== from) return
      const all = [...(items ?? []), ...page.data]
      state.value = { items: all, cursor: page.nextCursor, isReading: false, problem: null }
    } catch (error) {
      if (accountClient.peek() === from) state.value = { ...state.peek(), isReading: false, problem: problemOf(error) }
    }
  }
  useEffect(() => {
    state.value = { items: null, cursor: null, isReading: false, problem: null }
    if (client !== null) void readPage(client)
  }, [client])
  const { items, cursor, isReading, problem } = state.value
  return {
    items,
    isComplete: items !== null && cursor === null,
    isReading,
    problem,
    more: () => {
      if (client !== null && !isReading) void readPage(client)
    },
  }
}

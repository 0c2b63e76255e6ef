/** The sleep of one loop, which other code can end early. */
export interface InterruptibleSleep {
  /** Ends the sleep that is under way, or the next one before it begins: no wake-up is lost. */
  wake(): void
  sleep(ms: number): Promise<void>
  /** Sleeps the whole time: only `close` ends it early. */
  pause(ms: number): Promise<void>
  /** Ends every sleep, now and from now on. */
  close(): void
}

export function createInterruptibleSleep(): InterruptibleSleep {
  let isAwake = false
  let isClosed = false
  let isPausing = false
  let end: (() => void) | undefined

  async function rest(ms: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    await new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ms)
      end = resolve
    })
    clearTimeout(timer)
    end = undefined
  }

  return {
    wake() {
      isAwake = true
      if (!isPausing) end?.()
    },
    async sleep(ms) {
      if (!isAwake && !isClosed) await rest(ms)
      isAwake = false
    },
    async pause(ms) {
      if (isClosed) return
      isPausing = true
      await rest(ms)
      isPausing = false
    },
    close() {
      isClosed = true
      end?.()
    },
  }
}

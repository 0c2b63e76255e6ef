import { signal, type ReadonlySignal } from '@preact/signals'

let serviceClock: () => number = Date.now

/** Present time of the service in epoch milliseconds, renewed once a second while somebody reads it. */
export const nowSecond: ReadonlySignal<number> = everySecond(() => serviceClock())

/** Present time of this machine, whose clock may be wrong. Only for the age of what this machine noted itself. */
export const machineSecond: ReadonlySignal<number> = everySecond(Date.now)

/** Sets the clock of `nowSecond`. Until then it is that of this machine. */
export function setClock(clock: () => number): void {
  serviceClock = clock
}

/** Creates a signal that ticks only while somebody reads it. */
function everySecond(clock: () => number): ReadonlySignal<number> {
  let timer: ReturnType<typeof setInterval> | undefined
  const second = signal(clock(), {
    watched() {
      second.value = clock()
      timer = setInterval(() => (second.value = clock()), 1000)
    },
    unwatched() {
      clearInterval(timer)
    },
  })
  return second
}

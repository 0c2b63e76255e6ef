/** Tells of a commit. What it throws is a bug and ends the process, but the commit stays and all others are told. */
export function tellSafely(tell: () => void): void {
  try {
    tell()
  } catch (error) {
    queueMicrotask(() => {
      throw error
    })
  }
}

/** The name at the end of a reference: `Order` of `#/components/schemas/Order`. */
export function refName(ref: string): string {
  return ref.slice(ref.lastIndexOf('/') + 1)
}

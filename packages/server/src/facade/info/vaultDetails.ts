/** There are no vaults. */
export function vaultDetails(): unknown {
  return null
}

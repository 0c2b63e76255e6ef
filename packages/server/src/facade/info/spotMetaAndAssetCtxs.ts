import { SPOT_META } from './spotMeta.ts'

export function spotMetaAndAssetCtxs(): unknown {
  return [SPOT_META, []]
}

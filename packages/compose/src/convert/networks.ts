import { engineNetworkPrefix } from '@crux/rules'
import type { ComposePath } from '../model.ts'
import { type PlacedRow, type ServiceContext, setRows } from './service-context.ts'
import {
  type ComposeRecord,
  getMember,
  isComposeRecord,
  toBoolean,
  toComposeRecord,
  toText,
  toTexts,
} from './values.ts'

/** Converts `networks` and `network_mode`. The default network of Compose is the network that each deployment has. */
export function convertNetworks(context: ServiceContext): void {
  convertNetworkMode(context)
  const networks = context.get('networks')
  const names = isComposeRecord(networks) ? Object.keys(networks) : toTexts(networks)
  const rows = new Map<string, PlacedRow<{ key: string }>>()
  for (const [index, name] of names.entries()) {
    const path = ['networks', isComposeRecord(networks) ? name : index]
    if (isComposeRecord(networks)) reportAliases(context, toComposeRecord(networks[name]), path)
    if (name === 'default') continue
    const key = toNetworkKey(context.root, name)
    if (key === undefined)
      context.error(path, `The network ${name} is not declared: add it to the networks at the end of the file`)
    else if (!rows.has(key)) rows.set(key, { row: { key }, path })
  }
  setRows(context, 'networks', [...rows.values()], (keys) => {
    context.config.networks = keys
  })
}

/** An external network is one of the engine; any other is one of the team on the node. */
function toNetworkKey(root: ComposeRecord, name: string): string | undefined {
  const declared = toComposeRecord(getMember(root, 'networks'))
  if (!Object.hasOwn(declared, name)) return undefined
  const network = toComposeRecord(declared[name])
  const { external } = network
  const oldName = isComposeRecord(external) ? toText(external.name) : undefined
  const fullName = toText(network.name) ?? oldName ?? name
  return isComposeRecord(external) || toBoolean(external) === true ? `${engineNetworkPrefix}${fullName}` : fullName
}

function reportAliases(context: ServiceContext, network: ComposeRecord, path: ComposePath): void {
  const { name } = context.config
  for (const [index, alias] of toTexts(network.aliases).entries())
    if (alias !== name)
      context.omit(
        [...path, 'aliases', index],
        `A container has one name in its networks: others find it as ${name}, not as ${alias}`,
      )
}

function convertNetworkMode(context: ServiceContext): void {
  const mode = toText(context.get('network_mode'))
  const path = ['network_mode']
  if (!mode || mode === 'default') return
  if (mode === 'none' || mode === 'host' || mode === 'bridge') context.set('networkMode', mode, path)
  else
    context.omit(
      path,
      `${mode}: a container in Crux does not use the network of another one. It has its own, and its traffic leaves through the node`,
    )
}

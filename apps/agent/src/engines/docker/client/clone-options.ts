import type Docker from 'dockerode'
import type { AgentImage } from '../../engine.ts'
import { label } from '../../labels.ts'

type ImageConfig = Docker.ImageInspectInfo['Config']

/** Variables of one start alone: the install token is used up, and the update is another one. */
const dropped = ['CRUX_TOKEN', 'CRUX_UPDATE_ID']

/**
 * The new agent's container: as that of the old one, with another image. What the old image defines, such as its entrypoint, comes from
 * the new image. The address and the id of the old container in its networks are not copied.
 */
export function cloneOptions(
  own: Docker.ContainerInspectInfo,
  oldImage: ImageConfig,
  { name, image, updateId }: { name: string; image: AgentImage; updateId: string },
): Docker.ContainerCreateOptions {
  const { Config, HostConfig, NetworkSettings } = own
  const ownEnvironment = (Config.Env ?? []).filter(
    (line) => !(oldImage.Env ?? []).includes(line) && !dropped.includes(line.slice(0, line.indexOf('='))),
  )
  const ownLabels = Object.entries(Config.Labels ?? {}).filter(([key, value]) => oldImage.Labels?.[key] !== value)
  const isOwnNetwork = !['host', 'none', 'bridge', 'default'].includes(HostConfig.NetworkMode ?? 'default')
  return {
    name,
    Image: image.id,
    Env: [...ownEnvironment, `CRUX_UPDATE_ID=${updateId}`],
    Labels: { ...Object.fromEntries(ownLabels), [label.update]: updateId, [label.agentImage]: image.reference },
    ...(same(Config.Entrypoint, oldImage.Entrypoint) ? {} : { Entrypoint: Config.Entrypoint }),
    ...(same(Config.Cmd, oldImage.Cmd) ? {} : { Cmd: Config.Cmd }),
    ...(Config.User && Config.User !== oldImage.User ? { User: Config.User } : {}),
    HostConfig,
    ...(isOwnNetwork
      ? {
          NetworkingConfig: {
            EndpointsConfig: Object.fromEntries(
              Object.entries(NetworkSettings.Networks).map(([network, { Aliases, Links }]) => [
                network,
                // The engine adds the container's short id to its aliases.
                { Aliases: (Aliases ?? []).filter((alias: string) => !own.Id.startsWith(alias)), Links },
              ]),
            ),
          },
        }
      : {}),
  }
}

const same = (left: unknown, right: unknown) => JSON.stringify(left ?? null) === JSON.stringify(right ?? null)

import { Description, Icon, limits, Name, type ResponseOf, registryTypes } from '@crux/contract'
import i18n from 'i18next'
import { z } from 'zod'

/** The hosts of Container Registry; Artifact Registry has one per region. */
export const googleHosts = ['gcr.io', 'us.gcr.io', 'eu.gcr.io', 'asia.gcr.io', 'artifact'] as const

/** What the form holds: all types' fields side by side, so that switching the type back finds what was typed, except credentials. */
export const RegistryValues = z
  .object({
    name: Name,
    description: Description,
    icon: Icon,
    type: z.enum(registryTypes),
    url: z.string().trim().max(limits.url.max),
    imageNamePrefix: z.string().trim().max(255),
    gitlabNamespace: z.enum(['group', 'project']),
    githubNamespace: z.enum(['organization', 'user']),
    googleHost: z.enum(googleHosts),
    /** GitLab at an address of its own. */
    selfManaged: z.boolean(),
    apiUrl: z.string().trim().max(limits.url.max),
    access: z.enum(['public', 'private']),
    local: z.boolean(),
    /** False only while stored credentials stay as they are. */
    changeCredentials: z.boolean(),
    user: z.string().trim().max(255),
    token: z.string().max(8_192),
  })
  .superRefine((values, context) => {
    const need = (path: string, there: boolean, message: string) => {
      if (!there) context.addIssue({ code: 'custom', path: [path], message })
    }
    if (values.type !== 'v2' && values.type !== 'unchecked')
      need('imageNamePrefix', values.imageNamePrefix !== '', i18n.t('rules.required'))
    if (hasUrl(values)) need('url', values.url !== '', i18n.t('registries:form.urlRequired'))
    if (values.type === 'gitlab' && values.selfManaged)
      need('apiUrl', values.apiUrl !== '', i18n.t('registries:form.urlRequired'))
    if (sendsCredentials(values)) {
      need('user', values.user !== '', i18n.t('registries:form.userRequired'))
      need('token', values.token !== '', i18n.t('registries:form.tokenRequired'))
    }
  })
export type RegistryValues = z.output<typeof RegistryValues>
export type RegistryInput = z.input<typeof RegistryValues>

export const emptyRegistry: RegistryInput = {
  name: '',
  description: '',
  icon: null,
  type: 'v2',
  url: '',
  imageNamePrefix: '',
  gitlabNamespace: 'group',
  githubNamespace: 'organization',
  googleHost: 'gcr.io',
  selfManaged: false,
  apiUrl: '',
  access: 'public',
  local: false,
  changeCredentials: true,
  user: '',
  token: '',
}

export function fromRegistry(registry: ResponseOf<'registries.get'>): RegistryInput {
  const { type, details } = registry
  const { namespace } = details
  const selfManaged = type === 'gitlab' && Boolean(details.apiUrl)
  // Types without an address field have a fixed one, which must not appear when the type changes.
  const url = type === 'hub' || type === 'github' || (type === 'gitlab' && !selfManaged) ? '' : (details.url ?? '')
  return {
    name: registry.name,
    description: registry.description ?? '',
    icon: registry.icon ?? null,
    type,
    url,
    imageNamePrefix: details.imageNamePrefix ?? '',
    gitlabNamespace: namespace === 'project' ? 'project' : 'group',
    githubNamespace: namespace === 'user' ? 'user' : 'organization',
    googleHost: googleHosts.find((host) => host === url) ?? (type === 'google' ? 'artifact' : 'gcr.io'),
    selfManaged,
    apiUrl: details.apiUrl ?? '',
    access: details.hasCredentials ? 'private' : 'public',
    local: details.local ?? false,
    changeCredentials: !details.hasCredentials,
    user: details.user ?? '',
    token: '',
  }
}

export function toRegistryWrite(values: RegistryValues) {
  const { name, description, icon, type, url, imageNamePrefix, local } = values
  const base = { name, description: description || null, icon }
  const credentials = sendsCredentials(values) ? { user: values.user, token: values.token } : {}
  const open = { public: !isPrivate(values), ...credentials }
  switch (type) {
    case 'hub':
      return { ...base, type, details: { imageNamePrefix, ...open } }
    case 'gitlab': {
      const addresses = values.selfManaged ? { url, apiUrl: values.apiUrl } : {}
      return {
        ...base,
        type,
        details: { imageNamePrefix, namespace: values.gitlabNamespace, ...addresses, ...credentials },
      }
    }
    case 'github':
      return { ...base, type, details: { imageNamePrefix, namespace: values.githubNamespace, ...credentials } }
    case 'google': {
      const host = values.googleHost === 'artifact' ? url : values.googleHost
      return { ...base, type, details: { url: host, imageNamePrefix, ...open } }
    }
    case 'unchecked':
      return { ...base, type, details: { url: local ? '' : url, local, ...open } }
    case 'v2':
      return { ...base, type, details: { url, imageNamePrefix, ...open } }
  }
}

type Shown = Pick<RegistryInput, 'type' | 'local' | 'selfManaged' | 'googleHost' | 'access' | 'changeCredentials'>

/** Whether the form shows the address of the registry. */
export const hasUrl = ({ type, local, selfManaged, googleHost }: Shown): boolean =>
  type === 'v2' ||
  (type === 'unchecked' && !local) ||
  (type === 'gitlab' && selfManaged) ||
  (type === 'google' && googleHost === 'artifact')

/** GitLab and GitHub list nothing without credentials. */
export const needsCredentials = ({ type }: Pick<Shown, 'type'>): boolean => type === 'gitlab' || type === 'github'

export const isPrivate = (values: Shown): boolean =>
  needsCredentials(values) || (values.access === 'private' && !(values.type === 'unchecked' && values.local))

const sendsCredentials = (values: Shown) => isPrivate(values) && values.changeCredentials

/** The visible field for each property that the server may name while the form does not show the property's own field. */
export function replacedFields(values: Shown): Record<string, string> {
  const hidden: Record<string, string> = {}
  if (!hasUrl(values)) hidden.url = values.type === 'google' ? 'googleHost' : 'imageNamePrefix'
  if (!sendsCredentials(values)) {
    const place = needsCredentials(values) ? 'imageNamePrefix' : 'access'
    Object.assign(hidden, { user: place, token: place })
  }
  return hidden
}

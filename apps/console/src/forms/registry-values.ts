import { Description, Icon, limits, Name, type ResponseOf } from '@crux/contract'
import i18n from 'i18next'
import { z } from 'zod'

/** What the form holds: all types' fields side by side, so that switching the type back finds what was typed. */
export const RegistryValues = z
  .object({
    name: Name,
    description: Description,
    icon: Icon,
    type: z.enum(['v2', 'hub', 'unchecked']),
    url: z.string().trim().max(limits.url.max),
    imageNamePrefix: z.string().trim().max(255),
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
    if (values.type === 'hub') need('imageNamePrefix', values.imageNamePrefix !== '', i18n.t('rules.required'))
    if (values.type === 'v2' || (values.type === 'unchecked' && !values.local))
      need('url', values.url !== '', i18n.t('registries:form.urlRequired'))
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
  access: 'public',
  local: false,
  changeCredentials: true,
  user: '',
  token: '',
}

export function fromRegistry(registry: ResponseOf<'registries.get'>): RegistryInput {
  const { type, details } = registry
  return {
    name: registry.name,
    description: registry.description ?? '',
    icon: registry.icon ?? null,
    type: type === 'hub' || type === 'unchecked' ? type : 'v2',
    url: details.url ?? '',
    imageNamePrefix: details.imageNamePrefix ?? '',
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
  const open = {
    public: !isPrivate(values),
    ...(sendsCredentials(values) ? { user: values.user, token: values.token } : {}),
  }
  if (type === 'hub') return { ...base, type, details: { imageNamePrefix, ...open } }
  if (type === 'unchecked') return { ...base, type, details: { url: local ? '' : url, local, ...open } }
  return { ...base, type, details: { url, imageNamePrefix, ...open } }
}

const isPrivate = (values: RegistryValues) =>
  values.access === 'private' && !(values.type === 'unchecked' && values.local)
const sendsCredentials = (values: RegistryValues) => isPrivate(values) && values.changeCredentials

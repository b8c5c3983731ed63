// Decides which addresses may become links. Answers come from pages that anybody may have written, so only the site's own hosts and those
// of cited sources are linked. Everything else stays text.

/** Parses an http or https address as a browser does; relative ones are resolved against `base`. */
export function webAddress(text: string, base?: string): URL | undefined {
  let url: URL;
  try {
    url = new URL(text, base);
  } catch {
    return undefined;
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return undefined;
  return url.username || url.password ? undefined : url; // a user name before the host is used to deceive
}

export class LinkPolicy {
  private hosts = new Set<string>();

  constructor(addresses: Iterable<string>) {
    for (const address of addresses) {
      const url = webAddress(address);
      if (url) this.hosts.add(url.host);
    }
  }

  /** The allowed target of a link in an answer; undefined: it stays text. */
  target(text: string): string | undefined {
    if (/^mailto:/i.test(text)) return this.mail(text.slice(7));
    const url = webAddress(text);
    return url && this.hosts.has(url.host) ? url.href : undefined;
  }

  /** A plain mail address at a trusted host or its parent domain: no subject, no body, no second recipient. */
  private mail(address: string): string | undefined {
    const domain = /^[\w.+-]{1,64}@([a-z\d-]+(?:\.[a-z\d-]+)+)$/i.exec(address)?.[1]?.toLowerCase();
    if (domain === undefined) return undefined;
    for (const host of this.hosts) {
      const name = host.replace(/:\d+$/, '');
      if (name === domain || name.endsWith(`.${domain}`)) return `mailto:${address}`;
    }
    return undefined;
  }
}

// Which addresses may become links. An answer is made of pages that anybody may have written: only the site's own hosts and those
// of the sources that it cites are trusted to be linked, everything else stays text.

/** The address as a browser reads it, when it is one of the web; relative ones count from `base`. */
export function webAddress(text: string, base?: string): URL | undefined {
  let url: URL;
  try {
    url = new URL(text, base);
  } catch {
    return undefined;
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return undefined;
  return url.username || url.password ? undefined : url; // a name before the host is there to deceive
}

export class LinkPolicy {
  private hosts = new Set<string>();

  constructor(addresses: Iterable<string>) {
    for (const address of addresses) {
      const url = webAddress(address);
      if (url) this.hosts.add(url.host);
    }
  }

  /** Where a link of an answer may lead; undefined: it stays text. */
  target(text: string): string | undefined {
    if (/^mailto:/i.test(text)) return this.mail(text.slice(7));
    const url = webAddress(text);
    return url && this.hosts.has(url.host) ? url.href : undefined;
  }

  /** A bare address at a trusted host or a domain above it: no subject, no body, no second receiver. */
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

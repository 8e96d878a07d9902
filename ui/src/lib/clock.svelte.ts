// The time, which moves every few seconds, for texts such as "5 minutes ago".

class Clock {
  now = $state(Date.now());

  constructor() {
    setInterval(() => {
      if (!document.hidden) this.now = Date.now();
    }, 5000);
  }
}

export const clock = new Clock();
